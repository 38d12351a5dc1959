//! `ddsmark recipes`.

use experiment::Source;

use crate::{
    cli::{
        arguments::Recipes,
        output,
        problem::{Problem, Status},
    },
    work::recipes::{RECIPES, find},
};

pub fn execute(command: &Recipes) -> Result<Status, Problem> {
    match command {
        Recipes::List => {
            let recipes: Vec<_> = RECIPES.iter().map(|&(name, text)| (name, question(text))).collect();
            output::print(&report::recipe_list(&recipes))?;
        }
        Recipes::Show { recipe } => output::print(find(recipe)?)?,
    }
    Ok(Status::Done)
}

fn question(text: &str) -> String {
    let source = Source { path: String::new(), text: text.to_owned(), sets: Vec::new() };
    source.read().map_or_else(|fault| fault.to_string(), |written| written.question.get().clone())
}
