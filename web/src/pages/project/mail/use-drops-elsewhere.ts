import { useEffect } from 'react';

/** A file that is dropped beside the composer does not open in place of the page. */
export function useDropsElsewhere(): void {
  useEffect(() => {
    const keep = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') === true && !event.defaultPrevented) {
        event.preventDefault();
        if (event.type === 'dragover') event.dataTransfer.dropEffect = 'none';
      }
    };
    addEventListener('dragover', keep);
    addEventListener('drop', keep);
    return () => {
      removeEventListener('dragover', keep);
      removeEventListener('drop', keep);
    };
  }, []);
}
