import Effects
import Testing

@Suite("Class selections")
struct ClassSelectionTests {
    private let labels = ["background", "cat", "person", "1", "lamp, red", "lamp", "cup,saucer,spoon"]

    private func indices(_ selection: ClassSelection) throws(WordError) -> [Int] { try selection.indices(in: labels) }

    private func indices(_ texts: String...) throws(WordError) -> [Int] {
        try ClassSelection(texts: texts).indices(in: labels)
    }

    private func message(_ body: () throws(WordError) -> [Int]) -> String? {
        do throws(WordError) {
            _ = try body()
            return nil
        } catch {
            return error.description
        }
    }

    @Test("Names in any case and indices, each once, in the order of the list")
    func found() throws {
        #expect(try indices("Person,0,cat,2") == [2, 0, 1])
        #expect(try indices("Person", "0,cat", "2") == [2, 0, 1])
        #expect(try indices(["Person", 0, "cat", 2]) == [2, 0, 1])
        #expect(try indices(ClassSelection(["Person", "0", "cat", "2"])) == [2, 0, 1])
        #expect(try indices(ClassSelection([2, 0, 1, 2])) == [2, 0, 1])
        #expect(try indices([]) == [])
    }

    @Test("A label that is a number wins over the index")
    func numbers() throws {
        #expect(try indices("1") == [3])
        #expect(try indices(["1"]) == [3])
        #expect(try indices([1]) == [1])
    }

    @Test("Commas may be a label's own: the longest label that stands in the list counts")
    func commas() throws {
        #expect(try indices("lamp, red") == [4])
        #expect(try indices("cat,Lamp, Red,person") == [1, 4, 2])
        #expect(try indices("lamp,cat") == [5, 1])
        #expect(try indices("cup,saucer,spoon,lamp, red,lamp") == [6, 4, 5])
        #expect(try indices(["lamp", "cat"]) == [5, 1])
        #expect(try indices(["lamp, red"]) == [4])
        #expect(message { () throws(WordError) in try indices("cup,saucer") }?.contains("no class 'cup'") == true)
    }

    @Test("What is left out takes background with it")
    func others() throws {
        #expect(try indices(.foreground) == [1, 2, 3, 4, 5, 6])
        #expect(try indices(.allBut(["cat", 4])) == [2, 3, 5, 6])
        #expect(try indices(.allBut(ClassSelection(texts: ["lamp, red,1"]))) == [1, 2, 5, 6])
        #expect(try indices(.allBut(.allBut(["cat"]))) == [1])
    }

    @Test("What the model does not have is named, with the nearest label or all of them")
    func absent() {
        func message(_ name: String) -> String? { self.message { () throws(WordError) in try indices(name) } }
        #expect(message("persn") == "the model has no class 'persn'; did you mean person?")
        #expect(
            message("zebra")
                == "the model has no class 'zebra'; it knows background, cat, person, 1, lamp, red, lamp, cup,saucer,spoon"
        )
        #expect(message("7") == "there is no class 7; the model has 0 to 6")
        #expect(message("-1") == "there is no class -1; the model has 0 to 6")
        #expect(
            self.message { () throws(WordError) in try indices([7]) }
                == "class 7 does not exist: the model has 7 classes")
    }

    @Test("A list with an empty place is refused", arguments: ["", ",", "cat,", ",cat", "cat,,person"])
    func empty(_ text: String) {
        #expect(
            message { () throws(WordError) in try indices(text) }
                == "needs names or indices with commas in between, not '\(text)'")
    }
}

@Suite("Numbers as they are typed")
struct NumberWordTests {
    @Test("Numbers of the range are read, all else is refused in words")
    func numbers() throws {
        #expect(try Int(word: "7", in: 1...9) == 7)
        #expect(try Float(word: "-0.5", in: -1...1) == -0.5)
        #expect(try Double(word: "1e2", in: 0.01...1000) == 100)
        for word in ["", "0", "10", "1.5", "x"] {
            #expect(throws: WordError("needs a whole number from 1 to 9, not '\(word)'")) {
                try Int(word: word, in: 1...9)
            }
        }
        for word in ["nan", "2", "", "1,5"] {
            #expect(throws: WordError("needs a number from 0.5 to 1 for dim's amount, not '\(word)'")) {
                try Float(word: word, in: 0.5...1, for: "dim's amount")
            }
        }
    }
}
