-- The values of a column, each once, as rows in an array. Each is read by one descent of an index; `select distinct`
-- would read every row. Through the array the planner expects 10 of them.
-- @param column the column
-- @param where which rows of cairnq_tasks count
-- @param first? a further condition of the first value
unnest(array(
  with recursive walk(value) as (
    @least(
      @column, @where
      and @first
    )
    union all
    select @least(@column, @where and @column > walk.value) from walk where value is not null
  )
  select value from walk where value is not null
))
