create or replace function wadi_notify_queued() returns trigger language plpgsql as $$
begin
  perform pg_notify('cairnq_queued', q.queue) from (select distinct queue from inserted where status = 'queued') q;
  return null;
end
$$;

create or replace function wadi_notify_status() returns trigger language plpgsql as $$
begin
  if new.status = 'queued' then
    perform pg_notify('cairnq_queued', new.queue);
  else
    perform pg_notify('cairnq_done', new.id);
  end if;
  return null;
end
$$;

-- A table has one set of triggers. Where another SDK has none yet, its ledger records that it needs none any more.
do $$
begin
  if not exists (select 1 from pg_trigger where tgrelid = '@schema.cairnq_tasks'::regclass and not tgisinternal) then
    create trigger wadi_tasks_inserted after insert on cairnq_tasks
      referencing new table as inserted
      for each statement execute function wadi_notify_queued();

    create trigger wadi_tasks_status_changed after update of status on cairnq_tasks
      for each row when (old.status is distinct from new.status and new.status <> 'running')
      execute function wadi_notify_status();

    insert into cairnq_migrations (name, applied_at_ms)
    values ('0003_notify.sql', floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (name) do nothing;
  end if;
end
$$;
