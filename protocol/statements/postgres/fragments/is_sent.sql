-- Whether a submit was sent before: its own task exists.
-- @param submit its JSON
((select id from cairnq_tasks where id = @submit->>'id') is not null)
