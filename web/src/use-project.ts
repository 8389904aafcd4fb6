import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';

/** A project and its agents. */
export function useProject(project: string) {
  return useQuery({ queryKey: [...keys.project(project), 'detail'], queryFn: () => api.getProject({ project }) });
}

const newest = { messages: 50, turns: 200 };

/** Its newest messages, the oldest first. */
export function useMail(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'mail'],
    queryFn: async () =>
      (await api.listMessages({ project, query: { limit: newest.messages, order: 'desc' } })).items.reverse(),
  });
}

/** How much mail went from whom to whom. */
export function useMailCounts(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'mail-counts'],
    queryFn: async () => (await api.countMail({ project })).items,
  });
}

/** Its newest turns with their attempts, the oldest first, and before which place there are more. */
export function useTurns(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'turns'],
    queryFn: async () => {
      const query = { limit: newest.turns, order: 'desc' as const, include: ['attempts' as const] };
      const { items, previous } = await api.listTurns({ project, query });
      return { turns: items.reverse(), previous };
    },
  });
}

/** Its budgets, and what is used of them. */
export function useBudget(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'budget'],
    queryFn: async () => (await api.getBudget({ project })).items,
  });
}
