-- The status of a task as it reads: a task that has expired is canceled.
-- @param task the row
-- @param now_ms the present time
case when @is_expired(@task, @now_ms) then 'canceled' else @task.status end
