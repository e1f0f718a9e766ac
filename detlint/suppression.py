def apply(source, findings, *, enabled, known): return list(findings)
