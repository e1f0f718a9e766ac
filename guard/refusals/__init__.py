"""What torch refuses, and what differs without a word: seen, let through, or explained."""
