-- The error of a task that has expired, else null: a row with it reads as a canceled task.
-- @param task the row
-- @param now_ms the present time
case when @is_expired(@task, @now_ms) then @expiry_error(@task) end as expired_error
