import Glibc

/// SIGINT and SIGTERM as something to wait for, instead of the program's end.
///
/// A handler that wakes a waiting thread, and no source of Dispatch's: that would want threads of its own.
enum EndSignals {
    private static let numbers = [SIGINT, SIGTERM]
    /// What handlers may reach: a counter.
    private nonisolated(unsafe) static let arrived = {
        let counter = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(counter, 0, 0)
        return counter
    }()

    /// Begins to count signals, which end the program no more.
    static func listen() {
        // Made here: a handler must not.
        _ = arrived
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in sem_post(EndSignals.arrived) }
        action.sa_flags = SA_RESTART
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers {
            sigaction(number, &action, nil)
            sigaddset(&set, number)
        }
        // Whoever started the program may have had them blocked, and a program takes that over.
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Waits for a signal, one after the other.
    static func wait() {
        while sem_wait(arrived) != 0, errno == EINTR {}
    }

    /// Lets signals end the program again.
    static func ignoreNoMore() {
        for number in numbers { signal(number, SIG_DFL) }
    }
}
