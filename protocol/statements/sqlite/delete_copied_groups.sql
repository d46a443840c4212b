-- Forgets the revisions of schedules that a copy of a database brought along, so that code may store its own again.
-- @param scope text?
-- @returns nothing
delete from wadi_schedule_groups where @is_foreign()
