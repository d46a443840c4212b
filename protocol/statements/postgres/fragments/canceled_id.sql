-- The id of a task that was canceled, and a notification for the worker that runs it: pg_notify returns nothing, which
-- is added to the id.
-- @param task the row
@task.id || coalesce(case @task.status when 'running' then pg_notify('wadi_canceled', @task.id)::text end, '') as id
