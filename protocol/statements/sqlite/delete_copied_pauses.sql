-- Ends the pauses that a copy of a database brought along: those of another scope than the client's.
-- @param scope text?
-- @returns nothing
delete from wadi_pauses where @is_foreign()
