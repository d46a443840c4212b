-- Remembers which definitions of a group are stored. It ends the batch of upsert_schedules.
-- @param schedule_group text
-- @param revision integer
-- @param fingerprint text
-- @param now_ms integer?
-- @returns nothing
with @now()
insert into wadi_schedule_groups (group_name, revision, fingerprint, updated_at_ms)
select :schedule_group, :revision, :fingerprint, now.ms
from now
where @schedule_group()
on conflict (group_name) do update set
  revision = excluded.revision, fingerprint = excluded.fingerprint, updated_at_ms = excluded.updated_at_ms
