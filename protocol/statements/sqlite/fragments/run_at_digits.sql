-- The nearest integer that 16 digits of a cursor hold.
-- @param task the row
cast(max(-1000000000000000, min(8000000000000000, @task.run_at_ms)) as integer)
