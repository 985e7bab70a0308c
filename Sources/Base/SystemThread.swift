import CSystem
import Glibc

/// A thread of the system's, which runs one function.
///
/// Unlike a queue of Dispatch's it is there when it has been made, or says that it cannot be had: under a limit on threads
/// Dispatch waits for one without a word.
package final class SystemThread: @unchecked Sendable {
    private var thread = pthread_t()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: For debuggers; at most 15 bytes.
    ///   - niceness: Above 0 the thread gives way to others, by so many steps of the scheduler's.
    /// - Throws: `SystemError` where the system has no thread left.
    package init(name: String, niceness: Int32 = 0, _ body: @escaping () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(Start(name: name, niceness: niceness, body: body))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                start.run()
                return nil
            }, start.toOpaque())
        guard failure == 0 else {
            start.release()
            throw SystemError.noThread(systemErrorText(failure))
        }
    }

    /// Waits until the function has returned. To be called once, by another thread.
    package func join() { pthread_join(thread, nil) }

    /// Lets the thread end by itself, unseen. To be called instead of `join`.
    package func detach() { pthread_detach(thread) }

    /// What a new thread is told.
    private final class Start {
        private let name: String
        private let niceness: Int32
        private let body: () -> Void

        init(name: String, niceness: Int32, body: @escaping () -> Void) {
            self.name = name
            self.niceness = niceness
            self.body = body
        }

        func run() {
            _ = pthread_setname_np(pthread_self(), name)
            // Linux counts a thread as a process here.
            if niceness > 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
            body()
        }
    }
}

/// How far work that can wait gives way: a thread of the usual priority gets three times its share of a processor. On a machine
/// that has more to do than it can, 10 (a tenth) kept who posts a photograph waiting for minutes.
private let backgroundNiceness: Int32 = 5

/// Calls `body` on a thread that gives way to all others, and waits for it.
///
/// A thread that has given way cannot come back without a privilege, and those that it starts, such as Dispatch's, would give
/// way as well. So it is one that ends with `body`, which should do nothing but compute.
package func runAtBackgroundPriority<Result>(_ body: () -> Result) -> Result {
    withoutActuallyEscaping(body) { body in
        var result: Result?
        do throws(SystemError) {
            try SystemThread(name: "background", niceness: backgroundNiceness) { result = body() }.join()
        } catch {
            // Without a thread of its own it gives way to nobody, but is done.
            result = body()
        }
        guard let result else { preconditionFailure("the work was not done") }
        return result
    }
}
