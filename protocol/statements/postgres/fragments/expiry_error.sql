-- The error of a task that has expired.
-- @param task the row
jsonb_build_object(
  'type', 'Expired', 'code', 'expired', 'message', 'no worker claimed it before it expired',
  'retryable', false, 'details', jsonb_build_object('expires_at_ms', @task.expires_at_ms)
)
