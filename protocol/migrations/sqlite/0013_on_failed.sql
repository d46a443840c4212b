-- The task to submit when this one fails for good, as JSON: name, queue, max_attempts, max_crashes, priority and
-- expires_in_ms.
alter table cairnq_tasks add column on_failed text;

-- Submits it in the statement that stores the failure, of any SDK. Its id is a ULID of that time.
create trigger if not exists wadi_tasks_failed after update of status on cairnq_tasks
when new.status = 'failed' and old.status <> 'failed' and new.on_failed is not null
begin
  insert into cairnq_tasks (
    id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
    expires_at_ms, parent_id, root_id, correlation_id, created_at_ms, updated_at_ms
  )
  select
    'task_' || (
      select group_concat(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((new.updated_at_ms >> value) & 31), 1), '')
      from json_each('[45,40,35,30,25,20,15,10,5,0]')
    ) || (
      select group_concat(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + (random() & 31), 1), '')
      from json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]')
    ),
    new.on_failed->>'name', new.on_failed->>'queue', 'queued',
    json_object(
      'task', json_object(
        'id', new.id, 'name', new.name, 'queue', new.queue,
        'key', (select min(key) from cairnq_task_keys where task_id = new.id),
        'attempts', new.attempt, 'crashes', new.crashes
      ),
      'error', json(new.error)
    ),
    new.metadata, new.on_failed->>'max_attempts', new.on_failed->>'max_crashes', new.on_failed->>'max_crashes',
    new.on_failed->>'priority', new.updated_at_ms, new.updated_at_ms + (new.on_failed->>'expires_in_ms'),
    new.id, coalesce(new.root_id, new.id), new.correlation_id, new.updated_at_ms, new.updated_at_ms;
end;
