/** That a file cannot be shown, and where to have it all the same. */
export function NotShown({ why, download }: { why: string; download: string }) {
  return (
    <div className="not-shown" role="status">
      <p>{why}</p>
      <a className="button" href={download} download>
        Download it
      </a>
    </div>
  );
}
