// Package chart is the bundled canvas that draws numbers: bars or lines of a
// small table, with a query that the agent and the person both change.
//
// # What it promises
//
//   - One query, one result. The host reduces the table (query, result), so that
//     what is drawn, what the person's table says and what get_data returns are
//     the same numbers; the page only draws.
//   - A query always fits its table. Naming a column that is not there is
//     refused; where set_data takes a column away, what named it falls back to
//     the first that fits.
//   - Groups and series stand in the order in which the table first has them,
//     unless the query sorts. A group without a row in a series is null there,
//     and is drawn as a gap, never as 0.
//
// A chart that is opened without data draws the sample data that come with the
// package: twelve months of an invented shop, said to be sample data wherever
// they show. The person's change of the query is an event for the agent:
// {"type":"chart.changed","query":{…}}.
//
// # Limits
//
// 12 columns, 500 rows, texts of 100 code points, numbers up to 10¹⁵ either way,
// 60 groups, 8 series, 40 values to filter a column by in the page, and 48 KiB of
// JSON for the table with its result.
//
// The package imports canvas, canvas/sample (ordering, messages, saving) and ahp.
package chart
