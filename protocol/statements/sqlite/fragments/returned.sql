-- The columns of a claimed task. An integer beyond 2^53, or a text in its place, becomes the nearest number: some
-- drivers refuse others.
id, name, queue, status, cast(payload as text) as payload, cast(result as text) as result,
cast(error as text) as error, cast(metadata as text) as metadata, progress, message, attempt + 0.0 as attempt,
max_attempts + 0.0 as max_attempts, crashes + 0.0 as crashes, max_crashes + 0.0 as max_crashes,
priority + 0.0 as priority, worker_id, lease_until_ms + 0.0 as lease_until_ms, run_at_ms + 0.0 as run_at_ms,
cancel_requested_at_ms + 0.0 as cancel_requested_at_ms, parent_id, root_id, correlation_id,
created_at_ms + 0.0 as created_at_ms, updated_at_ms + 0.0 as updated_at_ms, completed_at_ms + 0.0 as completed_at_ms,
concurrency_key, crash_limit + 0.0 as crash_limit, hold, expires_at_ms + 0.0 as expires_at_ms,
cast(on_failed as text) as on_failed
