//! Classes of words, and the index over them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A class of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Verbs that change what is in the workspace.
    Change,
    /// Verbs that may change it or may say how an answer should be.
    Mild,
    /// Verbs that make something new.
    Make,
    /// Verbs that look and tell.
    Look,
    /// Verbs that ask for attention without saying for what.
    Vague,
    /// Verbs that carry out an activity which their object names.
    Perform,
    /// Verbs that say how, not what.
    Manner,
    /// Words that are verbs and, before another noun, parts of a name: `the update path`.
    AlsoNoun,
    /// What is said, and not built: objects that turn making into telling.
    Document,
    /// Objects that are something to read only together with `of`: a table of results, not a table for orders.
    DocumentOf,
    /// Activities that look and tell.
    LookingNoun,
    /// Parts of an answer. A change to one of these is no change to the workspace.
    AnswerNoun,
    /// Verbs whose prohibition can mean that nothing at all may change.
    Edits,
    /// The same as `-ing` forms.
    Editing,
    /// Verbs that repair what a question was about.
    Repairs,
    /// Nouns for changes.
    EditNoun,
    /// Words that make an object everything there is.
    Everything,
    /// Words behind an object that make it less than everything.
    Narrows,
    /// Words before an order that add nothing to it.
    Filler,
    /// Words between two orders.
    Coordinates,
    /// Words that begin an object.
    Determines,
    /// Words that end an object.
    Relates,
    /// Words that begin a subordinate clause.
    Subordinates,
    /// Words that begin a question, direct or not.
    Asks,
    /// Verbs that take another in base form.
    Modal,
    /// Helping verbs that open a question, without those that open an order as well.
    OpensQuestion,
    /// Forms of which it is certain that they are finite.
    Finite,
}

const LISTS: [(Class, &str); 27] = [
    (
        Class::Change,
        "
        abstract activate adapt add adjust align alter amend append backport bump change clean code commit
        configure connect consolidate convert correct deactivate debounce decouple dedupe deduplicate delete
        deploy deprecate disable document downgrade drop edit eliminate embed enable encapsulate encrypt enforce
        enhance expand expose extend extract fix flatten format guard harden hook implement import improve
        increase inject inline insert install instrument integrate introduce isolate localise localize lower
        merge migrate minify modernise modernize modify move optimise optimize overhaul override paginate
        parallelise parallelize parametrise parameterise parameterize patch pin polish port prune publish purge
        push put rearrange rebase redesign redo reduce refactor reformat register reimplement relocate remove
        rename reorder reorganise reorganize repair replace reset reshape resolve restore restructure restyle
        reuse revamp revert revise rewire rework rewrite sanitise sanitize scaffold secure separate set shorten
        shrink simplify solve speed split squash standardise standardize stabilise stabilize streamline strip
        swap switch sync tackle teach throttle tidy tighten toggle trim turn tweak unblock undo unify
        uninstall unwrap update upgrade vendor widen wire wrap",
    ),
    (
        Class::Mild,
        "
        accept address allow translate apply cache cap cover display emit hide log mark order output post prevent print
        reject return retry save sort store support throw raise rate-limit send group finish complete clear
        round use",
    ),
    (
        Class::Make,
        "
        assemble author bootstrap build compile compose craft create define develop draft draw generate make
        prepare produce provide prototype write",
    ),
    (
        Class::Look,
        "
        analyse analyze answer appraise argue ask assess audit benchmark brainstorm brief calculate catalog
        catalogue characterise characterize check choose cite clarify classify collect compare comprehend
        compute confirm consider contrast count critique decide deduce demonstrate derive describe detect
        determine diagnose diagram diff discover discuss double-check elaborate enumerate establish estimate
        evaluate examine explain explore figure find follow-up gather give grep guess highlight identify
        illustrate inform infer inspect interpret investigate itemise itemize judge learn list locate map
        measure mention monitor name observe outline pinpoint plan point predict present prioritise prioritize
        probe profile propose prove quantify query quote rank read recap recommend reply report research respond
        review scan scout search show sketch skim spot state study suggest summarise summarize survey tell trace
        track trawl understand know verify view visualise visualize walk weigh design rate reason proofread
        re-check recheck re-read reread re-review vet gauge",
    ),
    (
        Class::Vague,
        "
        look see take continue proceed handle work deal help debug test try go do have get run execute perform
        reproduce finalise finalize ensure start begin resume think dig validate assist open manage",
    ),
    (
        Class::Perform,
        "
        perform conduct do run make give undertake execute provide write have start begin continue finish
        complete",
    ),
    (
        Class::Manner,
        "
        suppose imagine pretend keep leave ignore skip treat follow stick focus limit restrict confine stop wait include exclude
        remember note be respect assume prefer start begin avoid preserve reuse mind feel stay remain
        concentrate",
    ),
    (
        Class::AlsoNoun,
        "
        update change patch build release import export move format insert delete create log cache write commit
        push merge port code document set switch turn hook guard reset import override",
    ),
    (
        Class::Document,
        "
        report summary plan proposal analysis overview list review comparison estimate assessment outline sketch
        explanation description breakdown diagram recommendation recommendations findings finding notes note
        memo brief answer opinion feedback verdict inventory timeline roadmap strategy draft body comment
        comments message email mail reply post-mortem postmortem checklist suggestion suggestions critique
        evaluation walkthrough investigation audit question questions table-of-contents bullet bullets sentence
        sentences paragraph conclusion hypothesis theory understanding picture ranking survey rfc adr
        specification spec write-up writeup synopsis digest list-of options alternatives ideas argument
        rationale justification response shortlist backlog story stories ticket issue design",
    ),
    (
        Class::DocumentOf,
        "
        table matrix chart map graph tree catalogue catalog index history set comparison",
    ),
    (
        Class::LookingNoun,
        "
        review audit analysis investigation inspection summary overview comparison report assessment evaluation
        inventory explanation walkthrough survey critique estimate research search check verification
        examination study diagnosis code-review benchmark profiling breakdown retrospective post-mortem
        postmortem triage",
    ),
    (
        Class::AnswerNoun,
        "
        example examples snippet sample illustration link links quote quotes thoughts opinion opinions views concerns
        suggestion suggestions remarks observations insights score scores rating ratings detail details context table
        diagram explanation reason reasons numbers headings heading bullet bullets intro introduction
        answer answers finding findings report reports summary summaries severity severities citation citations
        reference references recommendation recommendations confidence evidence verdict estimate estimates pros
        cons rationale positives duplicates review analysis audit search investigation results conclusion
        conclusions explanation reply response output priority priorities line-numbers",
    ),
    (
        Class::Edits,
        "
        edit change modify touch alter write fix implement make patch code rewrite apply mutate adjust correct",
    ),
    (
        Class::Editing,
        "
        editing changing modifying touching altering writing fixing implementing making patching coding
        rewriting applying mutating adjusting correcting",
    ),
    (
        Class::Repairs,
        "
        fix repair patch correct resolve solve address",
    ),
    (
        Class::EditNoun,
        "
        change changes edit edits modification modifications write writes fix fixes editing changing patches",
    ),
    (
        Class::Everything,
        "
        anything something files file code source sources it this that them these those things nothing
        everything repository repo project codebase workspace tree yet anywhere all",
    ),
    (
        Class::Narrows,
        "
        outside except besides beyond other else unless until without apart in under inside within below before
        related unrelated there from that which for of on to while",
    ),
    (
        Class::Filler,
        "
        please kindly now first firstly second secondly third then next finally also just simply maybe perhaps
        again afterwards lastly ok okay hi hey hello so well and or but plus yes ideally instead therefore
        otherwise once hence alternatively pls plz thanks both either to actually immediately always",
    ),
    (
        Class::Coordinates,
        "
        and then but or plus",
    ),
    (
        Class::Determines,
        "
        the a an this that these those all any every each some no both my your our their its his her another
        such several many few most more one two three it them him us me everything anything nothing whatever",
    ),
    (
        Class::Relates,
        "
        in on at for of from to into onto with without about against between by over under through across per
        via as after before during than around within inside outside since until upon towards toward",
    ),
    (
        Class::Subordinates,
        "
        that which who whose whom whether if how why what where when because until unless while after before
        although though once as",
    ),
    (
        Class::Asks,
        "
        how why what which where who whose whom whether how's what's where's who's why's",
    ),
    (
        Class::Modal,
        "
        can could would should must may might will shall cannot can't couldn't wouldn't shouldn't won't",
    ),
    (
        Class::OpensQuestion,
        "
        is are does did was were can could should would am has isn't aren't doesn't didn't wasn't weren't hasn't",
    ),
    (
        Class::Finite,
        "
        is are was were has had does did isn't aren't wasn't weren't hasn't doesn't didn't broke made went got
        took began wrote led lost came kept let's gave became grew left fell ran sent set",
    ),
];

/// For each word the classes it is in, one bit each.
static INDEX: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut index = HashMap::new();
    for (class, list) in LISTS {
        for word in list.split_ascii_whitespace() {
            *index.entry(word).or_default() |= bit(class);
        }
    }
    index
});

const fn bit(class: Class) -> u32 {
    1 << class as u32
}

/// Whether a word is in a class.
pub(super) fn is(class: Class, word: &str) -> bool {
    INDEX.get(word).is_some_and(|classes| classes & bit(class) != 0)
}
