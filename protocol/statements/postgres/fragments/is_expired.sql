-- Whether a task has expired: it was not claimed in time. A task that was claimed before, and goes on counting its
-- attempts, expires no more. It reads as a canceled one, also before expire_tasks has written that.
-- @param task the row
-- @param now_ms the present time
(
  @task.expires_at_ms is not null and @task.status = 'queued' and @task.attempt = 0
  and @task.expires_at_ms <= @now_ms
)
