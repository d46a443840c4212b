-- The status of the task that a schedule fired last; null if there is none any more.
(select status from cairnq_tasks where id = schedule.last_task_id)
