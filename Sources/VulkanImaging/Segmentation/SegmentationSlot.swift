import Imaging
import VulkanCompute

/// One frame on its way: memory for its upload and its results, and its recorded commands.
///
/// Load the pictures, submit, wait, copy the results; then the slot is free for the next frame. Nothing is allocated on the way. A
/// slot is used by one thread at a time.
package final class SegmentationSlot: @unchecked Sendable {
    package let program: SegmentationProgram
    /// Whether a frame has been submitted and not been waited for.
    package private(set) var isInFlight = false

    private let upload, readback: Buffer
    private let recorded: CommandBuffer
    private let submission: Submission

    init(_ program: SegmentationProgram, omittedBarrier: Int?) throws(VulkanError) {
        self.program = program
        upload = try Buffer(program.device, byteCount: program.memory.pictures.byteCount, .upload)
        readback = try Buffer(program.device, byteCount: program.memory.results.byteCount, .readback)
        recorded = try CommandBuffer(
            program.device, program.commands(from: upload, to: readback), timestamps: nil,
            omittedBarrier: omittedBarrier)
        submission = try Submission(program.device)
    }

    package var dispatchCount: Int { recorded.dispatchCount }
    /// Barriers between the commands of a frame.
    package var barrierCount: Int { recorded.barrierCount }

    /// Puts a picture into the frame.
    ///
    /// - Parameters:
    ///   - picture: Of the format's stored size, in any layout.
    ///   - index: Which picture of the batch.
    package func load(_ picture: ImageView, at index: Int = 0) {
        precondition(!isInFlight, "the slot's last frame is still on its way")
        precondition(picture.size == program.format.picture, "the picture is \(picture.size)")
        precondition((0..<program.format.batch).contains(index), "no picture \(index) in the frame")
        guard let contents = upload.contents else { return }
        picture.copyWords(to: contents + index * picture.size.pixelCount * 4)
    }

    /// Hands the loaded frame to the device.
    package func submit() throws(VulkanError) {
        precondition(!isInFlight, "the slot's last frame is still on its way")
        try submission.submit(recorded)
        isInFlight = true
    }

    /// Loads a frame of one picture and hands it to the device.
    package func submit(_ picture: ImageView) throws(VulkanError) {
        load(picture)
        try submit()
    }

    /// Waits until the frame's results can be copied.
    ///
    /// - Throws: `VulkanError` with `.timedOut` after `nanoseconds`; the frame is then still in flight. Or when the device is lost.
    package func wait(nanoseconds: UInt64) throws(VulkanError) {
        guard isInFlight else { return }
        try submission.wait(nanoseconds: nanoseconds)
        isInFlight = false
    }

    /// Copies the category mask of a picture: a byte a pixel, 0 where the network has not seen it.
    package func copyCategories(of index: Int = 0, into categories: UnsafeMutableBufferPointer<UInt8>) {
        copy(
            program.memory.categories, of: index, rowByteCount: program.maskSize.width, stride: quads * 4,
            into: UnsafeMutableRawBufferPointer(categories))
    }

    /// Copies the category mask of a picture that has the picture's size.
    package func copyPictureCategories(of index: Int = 0, into categories: UnsafeMutableBufferPointer<UInt8>) {
        guard let size = program.pictureMaskSize else { preconditionFailure("the format does not ask for this") }
        copy(
            program.memory.pictureCategories, of: index, rows: size.height, rowByteCount: size.width,
            stride: (size.width + 3) / 4 * 4, into: UnsafeMutableRawBufferPointer(categories))
    }

    /// Copies the confidences of a picture: for each of the format's classes one float a pixel.
    package func copyConfidences(
        _ part: Range<Int>? = nil, of index: Int = 0, into planes: [UnsafeMutableBufferPointer<Float>]
    ) {
        let all = program.format.outputs.confidenceClasses.indices
        let part = part ?? all
        precondition(part.clamped(to: all) == part && planes.count == part.count, "a plane for each class")
        for (result, plane) in zip(program.memory.confidences[part], planes) {
            copy(
                result, of: index, rowByteCount: program.maskSize.width * 4, stride: quads * 16,
                into: UnsafeMutableRawBufferPointer(plane))
        }
    }

    /// Copies the network's output at the masks' size: height x width x channels.
    package func copyScores(of index: Int = 0, into scores: UnsafeMutableBufferPointer<Float>) {
        let rowByteCount = program.maskSize.width * program.channelCount * 4
        copy(
            program.memory.scores, of: index, rowByteCount: rowByteCount, stride: rowByteCount,
            into: UnsafeMutableRawBufferPointer(scores))
    }

    /// Groups of 4 pixels in a row of a mask.
    private var quads: Int { (program.maskSize.width + 3) / 4 }

    /// Copies the rows of a result without what fills them up.
    private func copy(
        _ result: SegmentationMemory.Result?, of index: Int, rows: Int? = nil, rowByteCount: Int, stride: Int,
        into destination: UnsafeMutableRawBufferPointer
    ) {
        precondition(!isInFlight, "the frame is still on its way")
        precondition((0..<program.format.batch).contains(index), "no picture \(index) in the frame")
        guard let result else { preconditionFailure("the format does not ask for this") }
        let rows = rows ?? program.maskSize.height
        precondition(destination.count == rows * rowByteCount, "a result of another size")
        guard let to = destination.baseAddress, let contents = readback.contents else { return }
        let from =
            contents + (result.range.offset - program.memory.results.offset + index * result.bytesPerPicture)
        if stride == rowByteCount {
            to.copyMemory(from: from, byteCount: rows * rowByteCount)
        } else {
            for row in 0..<rows {
                (to + row * rowByteCount).copyMemory(from: from + row * stride, byteCount: rowByteCount)
            }
        }
    }
}

extension ImageView {
    /// Writes the pixels as words, without row padding: red in the lowest byte, then green, blue and straight alpha.
    func copyWords(to destination: UnsafeMutableRawPointer) {
        for y in 0..<size.height {
            let from = row(y)
            let to = destination + y * size.width * 4
            switch format {
            case .rgba: to.copyMemory(from: from, byteCount: size.width * 4)
            case .bgra: Self.store(from, 4, size.width, to) { ($0[2], $0[1], $0[0], $0[3]) }
            case .rgb: Self.store(from, 3, size.width, to) { ($0[0], $0[1], $0[2], 255) }
            case .bgr: Self.store(from, 3, size.width, to) { ($0[2], $0[1], $0[0], 255) }
            case .gray: Self.store(from, 1, size.width, to) { ($0[0], $0[0], $0[0], 255) }
            }
        }
    }

    @inline(__always)
    private static func store(
        _ from: UnsafePointer<UInt8>, _ channels: Int, _ width: Int, _ to: UnsafeMutableRawPointer,
        _ load: (UnsafePointer<UInt8>) -> (UInt8, UInt8, UInt8, UInt8)
    ) {
        for x in 0..<width {
            let (red, green, blue, alpha) = load(from + x * channels)
            let word = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
            to.storeBytes(of: word.littleEndian, toByteOffset: x * 4, as: UInt32.self)
        }
    }
}
