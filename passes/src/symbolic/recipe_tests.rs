//! Which functions have a recipe, and that one which is wrong is refused.

use std::sync::Arc;

use ir::sized::SizedBody;

use super::super::again::StepNeeds;
use super::*;

/// The recipe of a function of some operations, the last of which is returned.
fn recipe_of(ops: &str, returned: &str) -> Option<(Arc<Context>, SizedTypes, Recipe)> {
    let ctx = Arc::new(Context::new());
    let ty = "tensor<?x8xf32, #optc.dims<N>>";
    let text = format!("func.func @main(%x: T) -> {returned} {{\n{ops}\n  return %y : {returned}\n}}")
        .replace('T', ty);
    let module = ir::text::parse(&ctx, "recipe.mlir", text);
    let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    let body = module.function("main").expect("it is there");
    let mut types = SizedTypes::of(&ctx, body, &[ctx.ident("N")])?;
    let recipe = Recipe::of(&ctx, body, &mut types, Goal::Balanced)?;
    Some((ctx, types, recipe))
}

/// Three results, of which the second overwrites the first.
const CHAIN: &str = "  %0 = nn.exp %x : T\n  %1 = nn.neg %0 {mem.tie = array<i64: 0>} : T\n  %y = nn.softmax %1 {axis = 1 : i64} : T";

fn chain() -> (Arc<Context>, SizedTypes, Recipe) {
    recipe_of(CHAIN, "T").expect("it has a recipe")
}

#[test]
fn ties_share_a_buffer_and_outputs_are_the_callers() {
    let (_, _, recipe) = chain();
    assert_eq!(recipe.steps.len(), 3);
    let result = |step: usize| recipe.body.result(recipe.steps[step].op, 0);
    let first = BufferId::from_u32(0);
    assert_eq!(recipe.home(result(0)), Some(Home::Buffer(first)));
    assert_eq!(recipe.home(result(1)), Some(Home::Buffer(first)));
    assert_eq!(recipe.home(result(2)), Some(Home::Output(0)));
    assert_eq!(recipe.life(first), (Step::from_u32(0), Step::from_u32(2)));
}

#[test]
fn what_only_a_size_decides_has_no_recipe() {
    let has = |ops: &str| recipe_of(ops, "T").is_some();
    assert!(has("  %y = nn.exp %x : T"));
    assert!(!has("  %y = nn.exp %x {mem.pitch = array<i64: 32, 64>} : T"), "rows with gaps");
    let constant = "  %c = nn.constant dense<1.0> : tensor<f32>\n";
    let broadcast =
        "%b = nn.broadcast %c {shape = #optc.dims<N, 8>} : (tensor<f32>) -> T\n  %y = nn.add %x, %b : T";
    assert!(!has(&format!("{constant}{broadcast}")), "a weight of another size at each");
    let fixed = "%b = nn.broadcast %c {shape = array<i64: 1, 8>} : (tensor<f32>) -> tensor<1x8xf32>\n";
    assert!(has(&format!("{constant}{fixed}  %y = nn.add %x, %b : (T, tensor<1x8xf32>) -> T")));
    assert!(!has("  %y = nn.exp %x {mem.lines = array<i64: 1>} : T"), "turns of a few rows");
    let ctx = Context::new();
    let (mut types, body) = (SizedTypes::of(&ctx, &Body::new(1), &[]).unwrap(), Body::new(1));
    assert!(Recipe::of(&ctx, &body, &mut types, Goal::Memory).is_none(), "steps that run in bands");
}

/// Damages the recipe of [`CHAIN`], and looks for what is then said.
#[track_caller]
fn refuses(damage: impl FnOnce(&mut Recipe), expected: &str) {
    let (ctx, _, mut recipe) = chain();
    assert!(check_recipe(&ctx, &recipe).is_empty());
    damage(&mut recipe);
    let faults: Vec<String> = check_recipe(&ctx, &recipe).into_iter().map(|fault| fault.message).collect();
    assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
}

fn result(recipe: &Recipe, step: usize) -> Value {
    recipe.body.result(recipe.steps[step].op, 0)
}

/// Gives a buffer another life.
fn live(recipe: &mut Recipe, buffer: u32, first: u32, last: u32) {
    let mut problem = recipe.again.problem().clone();
    let buffer = &mut problem.buffers[BufferId::from_u32(buffer)];
    (buffer.first, buffer.last) = (Step::from_u32(first), Step::from_u32(last));
    recipe.again = Again::new(problem);
}

#[test]
fn a_recipe_that_forgets_what_is_still_read_is_refused() {
    refuses(|recipe| live(recipe, 0, 0, 1), "an operand is not where the recipe says it is");
    refuses(|recipe| live(recipe, 0, 1, 2), "a result is written where nothing keeps it");
    refuses(|recipe| live(recipe, 1, 0, 1), "its scratch is not its own");
}

#[test]
fn a_recipe_that_says_the_wrong_home_is_refused() {
    let to_scratch = |recipe: &mut Recipe, step| {
        let value = result(recipe, step);
        recipe.homes[value] = Some(Home::Buffer(recipe.steps[step].scratch));
    };
    refuses(|recipe| to_scratch(recipe, 0), "a result may have other bytes than its home");
    refuses(|recipe| to_scratch(recipe, 2), "a returned value is not where the caller gets it");
    refuses(
        |recipe| {
            let value = result(recipe, 0);
            recipe.homes[value] = Some(Home::Input(0));
        },
        "a result may have other bytes than its home",
    );
}

#[test]
fn a_recipe_that_lacks_a_step_or_a_tie_is_refused() {
    refuses(|recipe| recipe.steps.retain(|step| step.step.as_u32() != 1), "it runs, but is no step");
    refuses(|recipe| recipe.steps.swap(0, 1), "it runs, but is no step");
    let ctx_free = |recipe: &mut Recipe| {
        let op = recipe.steps[1].op;
        recipe.body.set_attrs(op, ir::Attr::EMPTY);
    };
    refuses(ctx_free, "a result overwrites an operand that it is not tied to");
}

#[test]
fn a_size_gives_places_without_sharing_bytes() {
    let ops = "  %0 = nn.exp %x : T
  %1 = nn.neg %x : T
  %2 = nn.softmax %0 {axis = 1 : i64} : T
  %3 = nn.add %1, %2 : T
  %y = nn.reduce_sum %3 {axes = array<i64: 1>, keepdims} : (T) -> tensor<?x1xf32, #optc.dims<N>>";
    let (ctx, types, recipe) = recipe_of(ops, "tensor<?x1xf32, #optc.dims<N>>").expect("it has a recipe");
    let mut sized = SizedBody::new(&ctx, &types, &recipe.body);
    let needs = StepNeeds { scratch_bytes: 100, least_scratch_bytes: 100, bands: None };
    for rows in [1, 3, 64] {
        sized.set(&types, &[rows]).expect("any number of rows will do");
        let plan = recipe.place(sized.ctx(), sized.body(), sized.at(), &[needs; 5]);
        let placed = plan.expect("no value is as small as the output").placed;
        let tensor = (32 * rows).next_multiple_of(64);
        assert_eq!(
            (placed.size_bytes, placed.bound_bytes),
            (3 * tensor + 128, 3 * tensor + 128),
            "{rows} rows"
        );
    }
}
