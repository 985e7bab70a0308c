import VulkanCompute
import Glibc
func spv(_ path: String) -> [UInt32] {
    let f = fopen(path, "rb")!; fseek(f, 0, SEEK_END); let n = ftell(f); rewind(f)
    var w = [UInt32](repeating: 0, count: n / 4); fread(&w, 4, n / 4, f); fclose(f); return w
}
let a = CommandLine.arguments
// spv P B uniform(0/slices) K N pixels local texels
let P = Int(a[2])!, B = Int(a[3])!, U = Int(a[4])!, K = Int(a[5])!, N = Int(a[6])!, M = Int(a[7])!, L = Int(a[8])!, T = Int(a[9])! 
let instance = try VulkanInstance()
let dev = try Device(try instance.physicalDevices()[0], instance: instance)
let kb = (K + 3) / 4, nb = (N + 3) / 4
let src = try Buffer(dev, byteCount: kb * M * 16, .upload), dst = try Buffer(dev, byteCount: nb * M * 16, .upload)
let groups = (nb + B - 1) / B
let groupVec = (K + 1) * B
let perSlice = U > 0 ? 4096 / groupVec : groups
let sliceCount = (groups + perSlice - 1) / perSlice
let w = try Buffer(dev, byteCount: max(sliceCount * 65536, groups * groupVec * 16), .upload)
for i in 0..<(src.byteCount / 4) { src.contents!.assumingMemoryBound(to: Float.self)[i] = Float(i % 17) * 0.1 }
for i in 0..<(w.byteCount / 4) { w.contents!.assumingMemoryBound(to: Float.self)[i] = Float(i % 13) * 0.01 }
let pipe = try Pipeline(dev, code: spv(a[1]), interface: ShaderInterface(bindings: [.storageBuffer, T == 1 ? .texelBuffer : .storageBuffer, U > 0 ? .uniformBuffer(count: U) : .texelBuffer, T == 1 ? .texelBuffer : .storageBuffer, T == 1 ? .texelBuffer : .storageBuffer], pushConstantsByteCount: 24), constants: [UInt32(L), 2, 0, 0], cache: nil, name: "x")
let sv = try TexelView(src.all, .float32x4)
let wr: BoundResource = U > 0 ? .uniform((0..<sliceCount).map { w.range($0 * 65536, 65536) }) : .texels(try TexelView(w.all, .float32x4))
let sr: BoundResource = T == 1 ? .texels(sv) : .storage(src.all)
let gx = (M + L * P - 1) / (L * P)
let d = Command.dispatch(.init(name: "p", pipe, [.storage(dst.all), sr, wr, sr, sr], pushConstants: [UInt32(M), UInt32(M), 1, UInt32(K), UInt32(nb), UInt32(perSlice)], groups: (gx, groups, 1), reads: [src.all, w.all], writes: [dst.all]))
let cmd = try RecordedCommands(dev, [d])
let sub = try Submission(dev)
var best = Double.infinity
let c = ContinuousClock()
var first = 0.0
for i in 0..<12 {
    let t = try c.measure { try sub.submit(cmd); try sub.wait(nanoseconds: 60_000_000_000) }
    let s = Double(t.components.attoseconds) * 1e-15 + Double(t.components.seconds) * 1e3
    if i == 0 { first = s } else { best = min(best, s) }
}
print("P\(P) B\(B) U\(U) T\(T) L\(L) K\(K) N\(N) M\(M): \(best) ms, first \(first), \(Double(2 * K * N * M) / best / 1e6) GFLOP/s")
