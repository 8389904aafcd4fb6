import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { api, keys } from '../../api.js';

/** Takes the file of the project that the address names, once. */
export function useFileOf(take: (file: string, project: string) => void): void {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const of = search.get('of') ?? '';
  const source = useQuery({
    queryKey: [...keys.project(of), 'source'],
    queryFn: () => api.getProjectSource({ project: of }),
    enabled: of !== '',
  });
  const file = source.data?.file;
  const taking = useRef(take);
  taking.current = take;
  useEffect(() => {
    if (of === '' || file == null) return;
    taking.current(file, of);
    navigate('/new', { replace: true });
  }, [of, file, navigate]);
}
