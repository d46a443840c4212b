-- For databases in which another SDK added its triggers to those of Wadi, or would still do so.
do $$
begin
  if exists (
    select 1 from pg_trigger where tgrelid = '@schema.cairnq_tasks'::regclass and tgname = 'cairnq_tasks_notify'
  ) then
    drop trigger if exists wadi_tasks_inserted on cairnq_tasks;

    drop trigger if exists wadi_tasks_status_changed on cairnq_tasks;
  elsif exists (
    select 1 from pg_trigger where tgrelid = '@schema.cairnq_tasks'::regclass and tgname = 'wadi_tasks_inserted'
  ) then
    insert into cairnq_migrations (name, applied_at_ms)
    values ('0003_notify.sql', floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (name) do nothing;
  end if;
end
$$;
