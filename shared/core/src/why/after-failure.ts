/** The command that leads on after an agent's turn has failed with a code, without the name of the program. */
export function afterFailure(project: string, agent: string, code = ''): string {
  switch (code) {
    case 'budget-reached':
      return `budget ${project}`;
    case 'quota-exceeded':
      return `usage ${project}`;
    // A turn that is tried again goes by the same journal, and contradicts it again.
    case 'journal-mismatch':
      return `agents reset ${project} ${agent} --redeliver`;
    default:
      return `agents retry ${project} ${agent}`;
  }
}
