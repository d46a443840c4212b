-- Takes the lock of a group of schedules until the transaction ends, so that two workers store their definitions of it
-- one after the other.
-- @only postgres: SQLite has one writer at a time
-- @param schedule_group text
-- @returns locks
select count(*) as locks
from (select pg_advisory_xact_lock(hashtextextended('wadi_schedules ' || :schedule_group::text, 0))) locked
