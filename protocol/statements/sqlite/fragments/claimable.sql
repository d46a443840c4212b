-- Whether an owner can name the task: an id that is empty, no text, or contains NUL does not survive its way.
-- @param task the row
@task.id > '' and typeof(@task.id) = 'text' and instr(@task.id, char(0)) = 0
