-- The elements of a JSON array, one a row. Through an array of SQL the planner expects 10 of them and keeps to indexes.
-- @param json the array
unnest(array(select jsonb_array_elements(@json::jsonb)))
