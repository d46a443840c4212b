-- The nearest integer to a due time that 16 digits of a cursor hold.
cast(max(-1000000000000000, min(8000000000000000, run_at_ms)) as integer)
