import Glibc

/// How far work that can wait gives way: a thread of the usual priority gets three times its share of a processor. On a machine
/// that has more to do than it can, 10 (a tenth) kept who posts a photograph waiting for minutes.
private let asideNiceness: Int32 = 5

/// Calls `body` on a thread that gives way to all others, and waits for it.
///
/// A thread that has given way cannot come back without a privilege, and those that it starts, such as Dispatch's, would give
/// way as well. So it is one that ends with `body`, which should do nothing but compute.
func runAside<Result>(_ body: () -> Result) -> Result {
    withoutActuallyEscaping(body) { body in
        let work = Work(body)
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                // Linux counts a thread as a process here.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, asideNiceness)
                Unmanaged<AnyWork>.fromOpaque(argument!).takeUnretainedValue().run()
                return nil
            }, Unmanaged<AnyWork>.passUnretained(work).toOpaque())
        // Without a thread of its own it gives way to nobody, but is done.
        if failure == 0 { pthread_join(thread, nil) } else { work.run() }
        guard let result = work.result else { preconditionFailure("the work was not done") }
        return result
    }
}

private class AnyWork {
    func run() {}
}

private final class Work<Result>: AnyWork {
    private let body: () -> Result
    var result: Result?

    init(_ body: @escaping () -> Result) { self.body = body }

    override func run() { result = body() }
}
