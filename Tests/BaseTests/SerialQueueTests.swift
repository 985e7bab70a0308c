import Base
import Foundation
import Glibc
import Testing

@Suite("Serial queue")
struct SerialQueueTests {
    @Test("Work is done in order, one piece at a time, also what waits when the queue is given up")
    func order() throws {
        let done = Locked<[Int]>([])
        let running = Locked(0)
        do {
            let queue = try SerialQueue(name: "test")
            for number in 0..<200 {
                queue.async {
                    let others = running.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    if number % 50 == 0 { usleep(5_000) }
                    running.withLock { $0 -= 1 }
                    done.update { $0.append(others == 0 ? number : -1) }
                }
            }
        }
        let numbers = done.wait { $0.count == 200 ? $0 : nil }
        #expect(numbers == Array(0..<200))
    }

    @Test("Its thread ends with it")
    func end() throws {
        let name = "queue's end"
        let isDone = Locked(false)
        do {
            let queue = try SerialQueue(name: name)
            queue.async { isDone.update { $0 = true } }
            isDone.wait { $0 ? () : nil }
            #expect(threadNames().contains(name))
        }
        for _ in 0..<500 where threadNames().contains(name) { usleep(10_000) }
        #expect(!threadNames().contains(name))
    }

    /// Of all threads of this process.
    private func threadNames() -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }.map {
            String($0.dropLast())
        }
    }
}
