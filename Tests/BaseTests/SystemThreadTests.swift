import Base
import Glibc
import Testing

@Suite("Threads of the system")
struct SystemThreadTests {
    @Test("One runs its function once, on a thread of its own, under its name")
    func runs() throws {
        let calls = Locked<[(name: String, thread: pthread_t)]>([])
        let thread = try SystemThread(name: "a test") {
            let text = ownName()
            calls.withLock { $0.append((text, pthread_self())) }
        }
        thread.join()
        let seen = calls.withLock { $0 }
        #expect(seen.map(\.name) == ["a test"])
        #expect(seen.allSatisfy { pthread_equal($0.thread, pthread_self()) == 0 })
    }

    @Test("Joining waits for the end")
    func joins() throws {
        let isDone = Locked(false)
        let thread = try SystemThread(name: "slow") {
            usleep(50_000)
            isDone.withLock { $0 = true }
        }
        thread.join()
        #expect(isDone.withLock { $0 })
    }

    @Test("One that gives way has its niceness, and its caller keeps its own")
    func niceness() throws {
        let before = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        let inside = Locked<Int32>(0)
        try SystemThread(name: "nice", niceness: before + 3) {
            inside.withLock { $0 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        }.join()
        #expect(inside.withLock { $0 } == min(19, before + 3))
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) == before)
    }

    @Test("Work at background priority gives its result, and way to others; its caller does not")
    func background() {
        func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        let before = niceness()
        #expect(runAtBackgroundPriority { 6 * 7 } == 42)
        #expect(runAtBackgroundPriority { niceness() } == max(before, 5))
        #expect(niceness() == before)
    }

    // In a process of its own: no thread of that can be had any more.
    @Test("One that cannot be had is an error in words, and background work is done without it")
    func refused() async {
        await #expect(processExitsWith: .success) {
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            // More than the address space holds.
            guard pthread_attr_setstacksize(&attributes, 1 << 50) == 0, setDefaultAttributes(&attributes) else {
                exit(2)
            }
            do throws(SystemError) {
                _ = try SystemThread(name: "refused") {}
                exit(3)
            } catch {
                guard error.description == SystemError.noThread(systemErrorText(EAGAIN)).description else { exit(4) }
            }
            exit(runAtBackgroundPriority { 42 } == 42 ? EXIT_SUCCESS : 5)
        }
    }
}

/// The calling thread's name, as the kernel has it.
private func ownName() -> String {
    guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 32)
    let count = fread(&line, 1, line.count, file)
    return String(decoding: line[..<count].filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}

/// What `pthread_setattr_default_np` does, which the GNU C library's headers hide from Swift.
private func setDefaultAttributes(_ attributes: UnsafePointer<pthread_attr_t>) -> Bool {
    guard let symbol = dlsym(nil, "pthread_setattr_default_np") else { return false }
    let function = unsafeBitCast(symbol, to: (@convention(c) (UnsafePointer<pthread_attr_t>) -> Int32).self)
    return function(attributes) == 0
}
