-- What a claim writes into a task. With :holds 1 a task whose worker vanished before is held, with 2 every task: it
-- starts only once that was announced. A task has no more crashes than attempts, so what sets back its attempts takes
-- its crashes from it.
status = 'running',
worker_id = :worker_id,
lease_until_ms = (select ms from now) + cast(:lease_ms as integer),
attempt = attempt + 1,
crashes = min(crashes, max(attempt, 0)),
hold = iif(+:holds = 2 or (+:holds = 1 and min(crashes, attempt) > 0), :worker_id, null),
updated_at_ms = (select ms from now)
