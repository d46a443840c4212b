-- The task to submit when this one fails for good: name, queue, max_attempts, max_crashes, priority and
-- expires_in_ms.
alter table cairnq_tasks add column if not exists on_failed jsonb;

-- Submits it in the statement that stores the failure, of any SDK. Its id is a ULID of that time.
create or replace function wadi_submit_on_failed() returns trigger language plpgsql as $$
begin
  insert into cairnq_tasks (
    id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
    expires_at_ms, parent_id, root_id, correlation_id, created_at_ms, updated_at_ms
  )
  select
    'task_' || (
      select string_agg(
        substr(
          '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
          1 + case
            when at > 9 then floor(random() * 32)::integer
            else (new.updated_at_ms >> (45 - 5 * at) & 31)::integer
          end,
          1
        ), '' order by at
      )
      from generate_series(0, 25) as digits(at)
    ),
    new.on_failed->>'name', new.on_failed->>'queue', 'queued',
    jsonb_build_object(
      'task', jsonb_build_object(
        'id', new.id, 'name', new.name, 'queue', new.queue,
        'key', (select min(key) from cairnq_task_keys where task_id = new.id),
        'attempts', new.attempt, 'crashes', new.crashes
      ),
      'error', new.error
    ),
    new.metadata, (new.on_failed->>'max_attempts')::integer, (new.on_failed->>'max_crashes')::integer,
    (new.on_failed->>'max_crashes')::integer, (new.on_failed->>'priority')::integer, new.updated_at_ms,
    new.updated_at_ms + (new.on_failed->>'expires_in_ms')::bigint,
    new.id, coalesce(new.root_id, new.id), new.correlation_id, new.updated_at_ms, new.updated_at_ms;
  return null;
end
$$;

drop trigger if exists wadi_tasks_failed on cairnq_tasks;

create trigger wadi_tasks_failed after update of status on cairnq_tasks
  for each row when (new.status = 'failed' and old.status <> 'failed' and new.on_failed is not null)
  execute function wadi_submit_on_failed();
