-- The error of a task that has expired.
-- @param task the row
json_object(
  'type', 'Expired', 'code', 'expired', 'message', 'no worker claimed it before it expired',
  'retryable', json('false'), 'details', json_object('expires_at_ms', @task.expires_at_ms)
)
