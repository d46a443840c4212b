/** The name of the task that all jobs of the races submit and run. */
export const TASK = "race";
