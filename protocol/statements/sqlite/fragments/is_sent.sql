-- Whether a submit was sent before: its own task exists.
-- @param submit its JSON
exists (select 1 from cairnq_tasks where id = @submit->>'id')
