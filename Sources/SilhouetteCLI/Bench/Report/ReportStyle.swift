/// The look of a report: light or dark as the reader has it, one column on a phone, black on white in print.
enum ReportStyle {
    static let sheet = """
        :root {
          --page: #f6f7f8; --card: #ffffff; --ink: #1b1f24; --soft: #59636e; --edge: #dfe3e7; --grid: #e9ecef;
          --first: #2159c4; --pale: #b9cdf2; --plain: #8a94a0; --second: #b4520c;
          --good: #13703f; --bad: #b3261e; --band: #e8ebee;
        }
        @media screen and (prefers-color-scheme: dark) {
          :root {
            --page: #13161a; --card: #1b2026; --ink: #e6e9ed; --soft: #9ca7b3; --edge: #303740; --grid: #282e36;
            --first: #74a7ff; --pale: #34507f; --plain: #7b8693; --second: #f0a35e;
            --good: #5cc58d; --bad: #ff8f85; --band: #2a3038;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
        main { max-width: 1160px; margin: 0 auto; padding: 28px 20px 48px; }
        h1 { font-size: 27px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
        h2 { font-size: 18px; margin: 0 0 12px; }
        h3 { font-size: 14px; margin: 0 0 6px; }
        p { margin: 0 0 10px; }
        .soft { color: var(--soft); }
        .kind { margin: 0 0 2px; font-size: 13px; }
        .device { font-size: 17px; margin: 4px 0 18px; overflow-wrap: anywhere; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 12px; }
        .tile { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 12px 16px; }
        .tile span { display: block; font-size: 13px; }
        .tile .value { font-size: 28px; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums; }
        .tile small { font-size: 14px; font-weight: 400; color: var(--soft); }
        section { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 18px 20px;
          margin-top: 16px; }
        dl { margin: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr));
          gap: 8px 28px; }
        dl.notes { grid-template-columns: 1fr; gap: 4px; }
        dl div { display: grid; grid-template-columns: 92px 1fr; gap: 10px; }
        dl.notes div { grid-template-columns: 130px 1fr; font-size: 14px; }
        dt { color: var(--soft); }
        dd { margin: 0; overflow-wrap: anywhere; }
        .warning { margin: 14px 0; padding: 8px 12px; border-left: 4px solid var(--second); background: var(--band); }
        .warning:last-child { margin-bottom: 0; }
        .scroll { overflow-x: auto; margin-bottom: 10px; }
        table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
        th, td { padding: 5px 7px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--edge); }
        th:first-child, td:first-child { padding-left: 0; }
        th { font-weight: 600; }
        thead th { color: var(--soft); font-weight: 400; }
        tbody th, .text { text-align: left; }
        td.main { font-weight: 600; }
        td.good { color: var(--good); } td.bad { color: var(--bad); }
        td.bad { white-space: normal; }
        .figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); gap: 26px 36px; }
        figure { margin: 0; max-width: 520px; }
        figcaption { color: var(--soft); font-size: 13px; margin-top: 4px; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 6px; font-size: 13px; }
        .key { display: inline-block; width: 12px; height: 12px; border-radius: 2px; background: var(--first);
          vertical-align: -1px; }
        .key.second { background: var(--second); } .key.pale { background: var(--pale); }
        .key.plain { background: var(--plain); } .key.round { border-radius: 50%; }
        details { margin-top: 14px; }
        summary { cursor: pointer; padding: 4px 0; }
        svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
        svg text { fill: var(--ink); font-variant-numeric: tabular-nums;
          paint-order: stroke; stroke: var(--card); stroke-width: 3px; stroke-linejoin: round; }
        svg text.soft { fill: var(--soft); }
        svg text.text-first { fill: var(--first); } svg text.text-second { fill: var(--second); }
        svg text.text-good { fill: var(--good); } svg text.text-bad { fill: var(--bad); }
        svg text.text-even { fill: var(--soft); }
        .grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
        .bar { fill: var(--first); } .bar.pale { fill: var(--pale); } .bar.plain { fill: var(--plain); }
        .band { fill: var(--band); }
        .box { fill: var(--pale); stroke: var(--first); } .whisker { stroke: var(--first); stroke-width: 1.5; }
        .median { stroke: var(--ink); stroke-width: 1.5; }
        .series { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .series.first, .interval.first { stroke: var(--first); } .series.second { stroke: var(--second); }
        .mark { stroke: var(--card); stroke-width: 1.5; } .mark.first { fill: var(--first); }
        .mark.second { fill: var(--second); }
        .mark.good { fill: var(--good); } .mark.bad { fill: var(--bad); } .mark.even { fill: var(--soft); }
        .interval { stroke-width: 3; stroke-linecap: round; }
        .interval.good { stroke: var(--good); } .interval.bad { stroke: var(--bad); }
        .interval.even { stroke: var(--soft); }
        @media (max-width: 560px) {
          main { padding: 16px 10px 32px; }
          section { padding: 14px 12px; }
          h1 { font-size: 22px; }
          dl.notes div { grid-template-columns: 1fr; gap: 0; margin-bottom: 6px; }
        }
        @media print {
          body { background: none; font-size: 11px; }
          main { max-width: none; padding: 0; }
          section, .tile { border: 0; padding: 0; margin-top: 14px; }
          table { font-size: 8.5px; }
          th, td { padding: 2px 4px; }
          .scroll { overflow: visible; }
          figure, tr, .tile { break-inside: avoid; }
          h2, h3 { break-after: avoid; }
          .figures { grid-template-columns: 1fr 1fr; }
          .bar, .key, .band, .box { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }
        """
}
