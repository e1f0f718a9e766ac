"""``detlint server``: findings in an editor as one types, by the language server protocol.

worker    threads that do what was asked of them last
sheets    open texts, and the places in them
projects  a project's settings, rules and index
linking   what other files say, asked in a process of its own
session   what is open, and what is shown of it
shift     findings of a text, moved behind a change of it
actions   what can be done about a finding
protocol  the messages, by pygls, which nothing else here imports
"""
