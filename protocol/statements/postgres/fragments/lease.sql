-- What a claim writes into a task. With :holds 1 a task whose worker vanished before is held, with 2 every task: it
-- starts only once that was announced. A task has no more crashes than attempts, so what sets back its attempts takes
-- its crashes from it.
status = 'running',
worker_id = :worker_id::text,
lease_until_ms = now.ms + :lease_ms::bigint,
attempt = least(attempt, 2147483646) + 1,
crashes = least(crashes, greatest(attempt, 0)),
hold = case
  when :holds::integer = 2 or (:holds::integer = 1 and least(crashes, attempt) > 0) then :worker_id::text
end,
updated_at_ms = now.ms
