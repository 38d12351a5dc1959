# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ddsmark_global_optspecs
    string join \n h/help V/version
end

function __fish_ddsmark_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ddsmark_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ddsmark_using_subcommand
    set -l cmd (__fish_ddsmark_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ddsmark -n "__fish_ddsmark_needs_command" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -s V -l version -d 'Print version'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "characterize" -d 'Measure latency and throughput over sample sizes, throughput unbatched and batched'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "run" -d 'Measure what an experiment file or a recipe asks'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "selftest" -d 'Tell what this host can and cannot resolve today: measure the same thing twice in every block'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "recipes" -d 'Show the recipes: experiment files that come with ddsmark'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "report" -d 'Print a result again'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "compare" -d 'Compare two results, two cells of one result, or two variants that are measured now'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "drivers" -d 'Show the drivers that can be measured'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "generate" -d 'Generate completions, man pages and the reference of this command'
complete -c ddsmark -n "__fish_ddsmark_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l driver -d 'Driver to measure: a name, `NAME@VERSION`, `WRITER+READER` for ends with different drivers, or the path of a file. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l size -d 'Payload size in bytes, with the 16-byte sample header in it. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l workload -d 'What to measure: one or both' -r -f -a "latency\t''
throughput\t''"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l batch-bytes -d 'Measure throughput also with samples packed into batches of at most so many bytes; 0: do not' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l reliability -d 'Delivery guarantee to ask for' -r -f -a "strongest\t'The strongest that each driver has'
reliable\t'Delivery guaranteed; refused for a driver that cannot'
best-effort\t'Samples may be lost'"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l receive -d 'How samples are received' -r -f -a "waitset\t''
polling\t''
listener\t''"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l polling-delay -d 'With `--receive polling`: how long a reader sleeps when nothing is there, up to `100ms`. Without it, not at all' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l interface -d 'Network interface to use' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l transport -d 'Transport to use. Without it, the default of each driver' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l option -d 'Option of one driver; `ddsmark drivers info D` lists them. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l runs -d 'Runs of each cell, at least 3' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l duration -d 'Measured time of each run, such as `800ms` or `5s`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l warm-up -d 'Warm-up of each run: the same traffic, not recorded' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l check-every -d 'Check every byte of one in so many samples; of the others the header' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l seed -d 'Seed of the order of the runs and of the payload. Without it, from the clock; it is recorded' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l match-timeout -d 'Time limit for the two ends of a run to find each other' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l pin -d 'Cores for the two ends of each run: `auto` (half of those that may be used for each; a single core is not pinned), `none`, or those of writer and reader, `0,1` or `0-3,4-7`. Recorded in the result' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l out -d 'Directory for the result, new or empty. Without it, `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l multicast -d 'Send data by multicast; refused for a driver that cannot. Without it, by unicast'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l vendor-defaults -d 'Run each middleware as it is shipped: without what its driver sets unasked, and without sizes of queues'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l quick -d 'Short runs: a first look'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l precise -d 'More and longer runs: figures to quote'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l keep-awake -d 'Keep the cores from idling, with spinning threads of the lowest priority. Recorded in the result'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l no-reference -d 'Measure no reference: the round trip and the rate of a bare UDP socket, before and after each block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand characterize" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l resume -d 'Go on with an interrupted experiment, after Ctrl-C, a crash or a reboot: the directory of its result. Also one that `characterize` began' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l set -d 'Put another value in the place of one in the file, such as `factors.size=64,1024`. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l out -d 'Directory for the result, new or empty. Without it, `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l force -d 'With `--resume`: go on although something differs. The result says what'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l duet -d 'Make each run at the same time as one of its baseline, each on half of the cores, swapped in every block. The same as `--set design.duet=true`'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l vendor-defaults -d 'Run each middleware as it is shipped, without what its driver sets unasked. The same as `--set factors.vendor_defaults=true`; with `--set factors.vendor_defaults=false,true` both are measured side by side'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l dry-run -d 'Print the plan and measure nothing: cells, blocks, runs, about what they take, and the smallest effect that they will be able to see, if a selftest of this host is kept'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l no-reference -d 'Measure no reference: the round trip and the rate of a bare UDP socket, before and after each block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l driver -d 'Driver to measure with: a name, `NAME@VERSION`, or the path of a file. Without it `udp`, the bare socket' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l pairs -d 'Pairs of runs of each cell. With fewer than 8 nothing could be said to differ' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l seed -d 'Seed of the order of the runs and of the payload. Without it, from the clock; it is recorded' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l out -d 'Directory for the result, new or empty. Without it, `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l quick -d '8 pairs of short runs: a first look, under a minute. Without it 20 pairs, about four minutes'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l no-reference -d 'Measure no reference: the round trip and the rate of a bare UDP socket, before and after each block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand selftest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'All recipes, and what each asks'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'The text of a recipe: a file to begin with'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from help" -f -a "list" -d 'All recipes, and what each asks'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from help" -f -a "show" -d 'The text of a recipe: a file to begin with'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand recipes; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand report" -l json -d 'Print the whole result as JSON instead of tables'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand report" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l interleave -d 'Measure two variants in alternating blocks, and compare B with A. Each is the arguments of `ddsmark run`, or of `ddsmark characterize` with that word in front, quoted as one' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l blocks -d 'Runs of each cell of both variants' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l precision -d 'Half the width of the 95 % interval to reach, such as `2%`, instead of a number of blocks' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l budget -d 'Maximum duration of the whole measurement, such as `10min`' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l out -d 'Directory for the result, new or empty. By default `results/NAME-TIME`' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l factor -d 'In what the two may differ, such as `driver`, `size`, `qos.reliability`, `design.pin` or `env.net.core.rmem_max`; or a group, such as `qos` or `env`. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l metric -d 'Figure to compare. May be given several times. Without it, p50 and p99 of the latency (RTT, or response under load), goodput of throughput' -r -f -a "p50\t''
p90\t''
p99\t''
p99.9\t''
response-p50\t''
response-p90\t''
response-p99\t''
response-p99.9\t''
service-p50\t''
service-p99\t''
send-lag-p99\t''
delivered\t''
goodput\t''
ndr\t''
pdr\t''
slo\t''
cpu-writer\t''
cpu-reader\t''"
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l fail-if -d 'End with 1 if this change is real, with 4 if the runs cannot tell: `p99 > +5%`, `goodput < -5%`. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l dry-run -d 'Print the plan and measure nothing'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l allow-inconclusive -d 'End with 0 where the runs cannot tell whether a criterion is broken'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l force -d 'Compare also what differs in more than the named factors. The output says so'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -l json -d 'Print the comparison as JSON'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "list" -d 'All drivers that can be named, and those that could be installed'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "versions" -d 'The versions of the middleware of a driver that can be fetched, the default first'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "install" -d 'Build a driver from its sources, against a version of its middleware, and put it beside the others'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "info" -d 'All that a driver says of itself: transports, options, and what it does with each policy'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "check" -d 'Try a driver against the contract, case by case'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and not __fish_seen_subcommand_from list versions install info check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from versions" -l sources -d 'Directory with the sources of drivers, one folder each. Without it `$DDSMARK_DRIVER_SOURCES`, else the tree that this program lies in or was built from' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from versions" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l prefix -d 'Build against the middleware that is installed in this directory, such as one of ROS 2, and fetch nothing. The driver\'s version is what the library says' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l sources -d 'Directory with the sources of drivers, one folder each. Without it `$DDSMARK_DRIVER_SOURCES`, else the tree that this program lies in or was built from' -r -F
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l limit -d 'Time limit of each step: to fetch, and to build' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -l accept-licence -d 'Accept the licence of the middleware, where it asks for that. `ddsmark drivers versions` shows it'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l transport -d 'Over this transport; by default over the driver\'s first' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l option -d 'With an option of the driver\'s, as `KEY=VALUE`. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l case -d 'Try this case only. May be given several times' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -l limit -d 'Time limit of each case' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "list" -d 'All drivers that can be named, and those that could be installed'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "versions" -d 'The versions of the middleware of a driver that can be fetched, the default first'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "install" -d 'Build a driver from its sources, against a version of its middleware, and put it beside the others'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "info" -d 'All that a driver says of itself: transports, options, and what it does with each policy'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "check" -d 'Try a driver against the contract, case by case'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand drivers; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "completions" -d 'Completions for a shell, on stdout'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "man" -d 'Man pages, into a directory'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "reference" -d 'The reference of the command line in Markdown, on stdout'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and not __fish_seen_subcommand_from completions man reference help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from completions" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from man" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from reference" -l width -d 'Columns of the help text' -r
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "completions" -d 'Completions for a shell, on stdout'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "man" -d 'Man pages, into a directory'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "reference" -d 'The reference of the command line in Markdown, on stdout'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand generate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "characterize" -d 'Measure latency and throughput over sample sizes, throughput unbatched and batched'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "run" -d 'Measure what an experiment file or a recipe asks'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "selftest" -d 'Tell what this host can and cannot resolve today: measure the same thing twice in every block'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "recipes" -d 'Show the recipes: experiment files that come with ddsmark'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "report" -d 'Print a result again'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "compare" -d 'Compare two results, two cells of one result, or two variants that are measured now'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "drivers" -d 'Show the drivers that can be measured'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "generate" -d 'Generate completions, man pages and the reference of this command'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and not __fish_seen_subcommand_from characterize run selftest recipes report compare drivers generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from recipes" -f -a "list" -d 'All recipes, and what each asks'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from recipes" -f -a "show" -d 'The text of a recipe: a file to begin with'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "list" -d 'All drivers that can be named, and those that could be installed'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "versions" -d 'The versions of the middleware of a driver that can be fetched, the default first'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "install" -d 'Build a driver from its sources, against a version of its middleware, and put it beside the others'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "info" -d 'All that a driver says of itself: transports, options, and what it does with each policy'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from drivers" -f -a "check" -d 'Try a driver against the contract, case by case'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "completions" -d 'Completions for a shell, on stdout'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "man" -d 'Man pages, into a directory'
complete -c ddsmark -n "__fish_ddsmark_using_subcommand help; and __fish_seen_subcommand_from generate" -f -a "reference" -d 'The reference of the command line in Markdown, on stdout'
