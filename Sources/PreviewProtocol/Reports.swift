import JSONText

/// What a server tells a page when their connection opens.
package struct Hello: Sendable {
    /// A model that a page may choose.
    package struct Model: Sendable {
        /// What settings call it.
        package var id: String
        /// What people call it.
        package var name: String
        /// Names of the classes, by index.
        package var labels: [String]
        /// Columns of its masks.
        package var width: Int
        /// Rows of its masks.
        package var height: Int
        /// Colours of the classes: red, green, blue.
        package var palette: [[UInt8]]
        /// Classes that are shown until somebody chooses others.
        package var subjectClasses: [Int]

        /// Creates a description.
        package init(
            id: String, name: String, labels: [String], width: Int, height: Int, palette: [[UInt8]],
            subjectClasses: [Int]
        ) {
            self.id = id
            self.name = name
            self.labels = labels
            self.width = width
            self.height = height
            self.palette = palette
            self.subjectClasses = subjectClasses
        }
    }

    /// Where frames come from.
    package enum Source: String, Sendable {
        /// Each page sends its own.
        case browser
        /// The server plays them.
        case server
    }

    /// What a page may ask of the server.
    package struct Limits: Sendable {
        /// Bytes of a message, its header included.
        package var messageBytes: Int
        /// Pixels of a frame.
        package var pixels: Int
        /// Frames sent and not yet ended.
        package var framesInFlight: Int
        /// Frames a second of one connection.
        package var framesPerSecond: Double

        /// Creates limits.
        package init(messageBytes: Int, pixels: Int, framesInFlight: Int, framesPerSecond: Double) {
            self.messageBytes = messageBytes
            self.pixels = pixels
            self.framesInFlight = framesInFlight
            self.framesPerSecond = framesPerSecond
        }
    }

    /// The program and its version: `silhouette 0.1.0`.
    package var server: String
    /// Where frames come from.
    package var source: Source
    /// What the server's source is called, for people. Nil for pages' own cameras.
    package var sourceName: String?
    /// The models, the default one first.
    package var models: [Model]
    /// What the network runs on: the identifier of one of `devices`, or a text for people where there are none.
    package var device: String
    /// Identifiers and names of the devices that a page may choose. Empty: there is no choice.
    package var devices: [(id: String, name: String)]
    /// What may be asked.
    package var limits: Limits
    /// What mattes are drawn with. Nil: before version 2 there are none.
    package var matte: Matte?

    /// The numbers that a page draws a matte with, which are the server's own.
    package struct Matte: Sendable {
        /// How much colours must vary to count.
        package var epsilon: Double
        /// Where the confidences are so sure, the picture is not asked.
        package var certainty: Double
        /// Opacity over confidence.
        package var steepness: Double
        /// Longer side of the grids of the edge's colours.
        package var colorSide: Int
        /// Places that these come from.
        package var colorRadii: [Int]

        /// Creates numbers.
        package init(epsilon: Double, certainty: Double, steepness: Double, colorSide: Int, colorRadii: [Int]) {
            self.epsilon = epsilon
            self.certainty = certainty
            self.steepness = steepness
            self.colorSide = colorSide
            self.colorRadii = colorRadii
        }
    }

    /// Creates a greeting.
    package init(
        server: String, source: Source, sourceName: String?, models: [Model], device: String,
        devices: [(id: String, name: String)], limits: Limits, matte: Matte? = nil
    ) {
        self.server = server
        self.source = source
        self.sourceName = sourceName
        self.models = models
        self.device = device
        self.devices = devices
        self.limits = limits
        self.matte = matte
    }

    /// The greeting as JSON.
    package var json: String {
        func integers(_ values: [Int]) -> JSONValue { .list(values.map { .integer($0) }) }
        let models = models.map { model in
            JSONValue.object([
                "id": .text(model.id), "name": .text(model.name), "labels": .list(model.labels.map { .text($0) }),
                "width": .integer(model.width), "height": .integer(model.height),
                "palette": .list(model.palette.map { integers($0.map(Int.init)) }),
                "subjectClasses": integers(model.subjectClasses),
            ])
        }
        var members: [(String, JSONValue)] = [
            ("protocol", .integer(matte == nil ? 1 : 2)), ("server", .text(server)),
            ("source", .text(source.rawValue)), ("sourceName", sourceName.map { .text($0) } ?? .null),
            ("models", .list(models)), ("model", self.models.first.map { .text($0.id) } ?? .null),
        ]
        if !devices.isEmpty {
            let choices = devices.map { JSONValue.object(["id": .text($0.id), "name": .text($0.name)]) }
            members.append(("devices", .list(choices)))
        }
        members += [
            ("device", .text(device)),
            (
                "limits",
                .object([
                    "messageBytes": .integer(limits.messageBytes), "pixels": .integer(limits.pixels),
                    "framesInFlight": .integer(limits.framesInFlight),
                    "framesPerSecond": .exact(limits.framesPerSecond),
                ])
            ),
        ]
        if let matte {
            members.append(
                (
                    "matte",
                    .object([
                        "epsilon": .exact(matte.epsilon), "certainty": .exact(matte.certainty),
                        "steepness": .exact(matte.steepness), "colorSide": .integer(matte.colorSide),
                        "colorRadii": .list(matte.colorRadii.map { .integer($0) }),
                    ])
                ))
        }
        return JSONValue.members(members).json
    }
}

/// Figures about a frame, which end it.
package struct ResultReport: Sendable {
    /// Running the network.
    package var inferenceMilliseconds: Double
    /// Decoding the picture.
    package var decodeMilliseconds: Double
    /// From the frame's arrival to this message.
    package var totalMilliseconds: Double
    /// Classes that were seen, each with its part of the mask's pixels, the largest first.
    package var shares: [(classIndex: Int, share: Double)]
    /// Frames of this connection that were dropped for newer ones.
    package var droppedFrames: Int
    /// What the network ran on.
    package var device: String
    /// Places around each one that a matte's edges are looked for in. Nil: there is no matte.
    package var matteRadius: Int?

    /// Creates figures.
    package init(
        inferenceMilliseconds: Double, decodeMilliseconds: Double, totalMilliseconds: Double,
        shares: [(classIndex: Int, share: Double)], droppedFrames: Int, device: String, matteRadius: Int? = nil
    ) {
        self.inferenceMilliseconds = inferenceMilliseconds
        self.decodeMilliseconds = decodeMilliseconds
        self.totalMilliseconds = totalMilliseconds
        self.shares = shares
        self.droppedFrames = droppedFrames
        self.device = device
        self.matteRadius = matteRadius
    }

    /// The figures as JSON.
    package var json: String {
        var members: [(String, JSONValue)] = [
            ("inferenceMilliseconds", .number(inferenceMilliseconds)),
            ("decodeMilliseconds", .number(decodeMilliseconds)), ("totalMilliseconds", .number(totalMilliseconds)),
            ("shares", .list(shares.map { .list([.integer($0.classIndex), .number($0.share)]) })),
            ("droppedFrames", .integer(droppedFrames)), ("device", .text(device)),
        ]
        if let matteRadius { members.append(("matteRadius", .integer(matteRadius))) }
        return JSONValue.members(members).json
    }
}

extension ProtocolError {
    /// The refusal as JSON.
    package var json: String {
        JSONValue.object([
            "code": .text(code.rawValue), "message": .text(message), "fatal": .boolean(closeCode != nil),
        ]).json
    }
}

extension PreviewMessage {
    /// A message whose payload is JSON.
    package init(_ kind: MessageKind, json: String, sequence: UInt32 = 0, timestamp: UInt64 = 0) {
        self.init(kind, .json, sequence: sequence, timestamp: timestamp, payload: Array(json.utf8))
    }
}
