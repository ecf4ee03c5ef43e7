// What Comunica makes of the endpoint, as JSON. Arguments: addresses of both instances, the queries as JSON.
import { QueryEngine } from '@comunica/query-sparql';

const [served, strict, queries] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4])];
const engine = new QueryEngine();
const endpoint = { sources: [{ type: 'sparql', value: `${served}/sparql` }] };
const limited = { sources: [{ type: 'sparql', value: `${strict}/sparql` }] };

async function rows(query, context) {
  const stream = await engine.queryBindings(query, context);
  return (await stream.toArray()).map(row => Object.fromEntries([...row].map(([key, term]) => [key.value, plain(term)])));
}

function plain(term) {
  return { type: term.termType, value: term.value, language: term.language, datatype: term.datatype?.value };
}

async function quads(query, context) {
  const stream = await engine.queryQuads(query, context);
  return (await stream.toArray()).map(quad => [quad.subject, quad.predicate, quad.object].map(plain));
}

async function count(query, context) {
  let n = 0;
  for await (const _ of await engine.queryBindings(query, context)) n++;
  return n;
}

async function attempt(call) {
  try {
    return { value: await call() };
  } catch (error) {
    return { error: String(error) };
  }
}

const results = {
  kinds: await rows(queries.kinds, endpoint),
  untyped: await rows(queries.kinds, { sources: [`${served}/sparql`] }),
  file: await rows(queries.kinds, { sources: [`${served}/graph/kinds`] }),
  federated: await rows(queries.federated, {
    sources: [{ type: 'sparql', value: `${strict}/sparql` }, `${served}/graph/names`],
  }),
  endpoints: await rows(queries.federated, {
    sources: [{ type: 'sparql', value: `${strict}/sparql` }, { type: 'sparql', value: `${served}/sparql` }],
  }),
  long: await count(queries.long, endpoint),
  yes: await engine.queryBoolean(queries.yes, endpoint),
  no: await engine.queryBoolean(queries.no, endpoint),
  construct: await quads(queries.construct, endpoint),
  describe: await quads(queries.describe, endpoint),
  truncated: await attempt(() => count(queries.long, limited)),
  truncatedGraph: await attempt(async () => (await quads(queries.large, limited)).length),
  truncatedFile: await attempt(() => count(queries.all, { sources: [`${strict}/graphs?default`] })),
  patience: await attempt(() => rows(queries.slow, { ...endpoint, httpTimeout: 300 })),
  parameters: await attempt(() => rows(queries.kinds, { sources: [{ type: 'sparql', value: `${served}/sparql?timeout=1` }] })),
  update: await attempt(() => engine.queryVoid('CLEAR ALL', { ...endpoint, destination: endpoint.sources[0] })),
};
console.log(JSON.stringify(results));
