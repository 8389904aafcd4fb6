import type { Project } from '@suzumio/sdk/client';
import { useLocation, Link } from 'wouter';
import { useListKeys } from '../acts/keys.js';
import { useMayMake } from '../acts/use-may-make.js';
import { Copyable } from '../parts/copy.js';
import { Failure } from '../parts/failure.js';
import { Mark } from '../parts/mark.js';
import { count, dollars } from '../parts/numbers.js';
import { stateOfProject } from '../parts/states.js';
import { Ago } from '../parts/time.js';
import { useFailed } from '../use-inbox.js';
import { useProjects } from '../use-projects.js';
import { useTitle } from '../title.js';

/** Every project, a row each. */
export function Projects() {
  const projects = useProjects();
  const mayMake = useMayMake();
  useListKeys({ rows: '.projects-table th a' });
  useTitle('Projects');
  return (
    <>
      <header className="head">
        <h1>Projects</h1>
        <span className="head-note">{projects.data?.length ?? ''}</span>
        <Link href="/cost" className="button head-act">
          What they cost
        </Link>
        {mayMake ? (
          <Link href="/new" className="button">
            New project
          </Link>
        ) : null}
      </header>
      {projects.error && projects.data === undefined ? (
        <Failure error={projects.error} again={() => void projects.refetch()} />
      ) : null}
      {projects.data?.length === 0 ? <NoProjects /> : null}
      {projects.data && projects.data.length > 0 ? <Table projects={projects.data} /> : null}
    </>
  );
}

/** What to do where there is no project. */
export function NoProjects() {
  return (
    <div className="empty">
      <h2>No project yet</h2>
      <p>A project is a task and the team of agents that works at it, written in one file.</p>
      {useMayMake() ? (
        <p>
          <Link href="/new" className="button button-filled">
            Make the first project
          </Link>
        </p>
      ) : null}
      <p>
        On the command line, the first of these asks for what a file needs, and writes it; the second makes its project:
      </p>
      <Copyable text="suzumio init" />
      <Copyable text="suzumio init FILE" />
    </div>
  );
}

function Table({ projects }: { projects: readonly Project[] }) {
  const [, navigate] = useLocation();
  const failed = useFailed();
  return (
    <div className="table-scroll">
      <table className="table projects-table">
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col">State</th>
            <th scope="col" className="wide">
              Task
            </th>
            <th scope="col" className="number">
              Turns
            </th>
            <th scope="col" className="number">
              Messages
            </th>
            <th scope="col" className="number">
              Tokens
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col" className="number">
              For
            </th>
          </tr>
        </thead>
        <tbody>
          {projects.map((project) => {
            const { mark, word } = stateOfProject(project, failed.has(project.id));
            return (
              <tr key={project.id} onClick={() => navigate(`/p/${project.id}`)}>
                <th scope="row">
                  <Link href={`/p/${project.id}`}>
                    <bdi translate="no">{project.id}</bdi>
                  </Link>
                </th>
                <td className={`state state-${mark}`}>
                  <Mark kind={mark} /> {word}
                </td>
                <td className="wide clip">
                  <bdi>{project.task}</bdi>
                </td>
                <td className="number">{count(project.turns.total)}</td>
                <td className="number">{count(project.messages)}</td>
                <td className="number">{count(project.tokens)}</td>
                <td className="number">{dollars(project.costUsd)}</td>
                <td className="number quiet">
                  <Ago at={project.statusAt} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
