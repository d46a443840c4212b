-- The columns that a submit fills.
id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms, expires_at_ms,
parent_id, root_id, correlation_id, concurrency_key, on_failed, created_at_ms, updated_at_ms
