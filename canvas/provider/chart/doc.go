// Package chart is the bundled canvas that draws numbers: bars or lines of a small
// table, with a query that agent and person both change.
//
// # Guarantees
//
//   - There is one query and one result. The provider reduces the table, so the
//     picture, the table below it and get_data have the same numbers; the page only
//     draws.
//   - The query always fits the table. A query with an unknown column fails. If
//     set_data removes a column of the query, the first suitable column replaces it.
//   - Groups and series have the order of their first rows, unless the query sorts. A
//     group without rows in a series is null there, and is drawn as a gap, not as 0.
//   - A choice belongs to the chart that the person saw. It carries the revision, which
//     counts the agent's changes; if the agent has changed data or query meanwhile, it
//     fails with chart_changed. Other data (set_data, open) withdraw choices that the agent
//     has not read, and each answer and event has its revision.
//
// A chart that is opened without data draws the package's sample data, which its title
// and source name as such: twelve months of an invented shop. A person's change of the
// query is an event for the agent:
// {"type":"chart.changed","title":…,"source":…,"revision":2,"query":{…},"result":{…}}
// has the numbers that the person sees from then on.
//
// # Limits
//
// 12 columns, 500 rows, texts of 100 code points, numbers between -10¹⁵ and 10¹⁵, 60
// groups, 8 series, and 48 KiB of JSON for the table with its result. The page offers a
// filter for columns of at most 40 values.
//
// The package imports canvas, sample and ahp.
package chart
