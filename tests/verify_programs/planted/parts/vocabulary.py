"""Characters and their numbers."""


class Vocabulary:
    def __init__(self, text):
        self.number = {}
        for character in set(text):  # planted: batch_content
            self.number[character] = len(self.number)

    def __len__(self):
        return len(self.number)

    def encode(self, text):
        return [self.number[character] for character in text]
