//! `ddsmark recipes`.

use experiment::Source;

use crate::{
    cli::{
        arguments::Recipes,
        cli_error::{ExitStatus, Result},
        output,
    },
    work::recipes::{RECIPES, find},
};

pub fn execute(command: &Recipes) -> Result<ExitStatus> {
    match command {
        Recipes::List => {
            let recipes: Vec<_> = RECIPES.iter().map(|&(name, text)| (name, question(text))).collect();
            output::print(&report::recipe_list(&recipes))?;
        }
        Recipes::Show { recipe } => output::print(find(recipe)?)?,
    }
    Ok(ExitStatus::Done)
}

fn question(text: &str) -> String {
    let source = Source { path: String::new(), text: text.to_owned(), sets: Vec::new() };
    source.read().map_or_else(|fault| fault.to_string(), |file| file.question.get().clone())
}
